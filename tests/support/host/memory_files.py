"""What the host itself makes of its memory files and skills: entries, prompt, usage, and whether it goes on writing."""

import json
import sys

wanted = json.loads(sys.argv[1])

from hermes_constants import get_hermes_home  # noqa: E402
from tools.memory_tool import load_on_disk_store, memory_tool  # noqa: E402
from tools.skill_manager_tool import _validate_frontmatter, _validate_name  # noqa: E402
from tools.skills_tool import skill_view, skills_list  # noqa: E402
from tools.threat_patterns import scan_for_threats  # noqa: E402

store = load_on_disk_store()
found = {
    "memory": store.memory_entries,
    "user": store.user_entries,
    "prompt": [store.format_for_system_prompt(target) or "" for target in ("memory", "user")],
    "threats": [scan_for_threats(text, scope="strict") for text in wanted.get("scan", [])],
    "skills": [],
    "written": [],
}
for call in wanted.get("write", []):
    found["written"].append(json.loads(memory_tool(**call, store=store)))
if wanted.get("skills"):
    found["skills"] = json.loads(skills_list())["skills"]
    for skill in found["skills"]:
        text = next((get_hermes_home() / "skills").rglob(f"{skill['name']}/SKILL.md")).read_text()
        skill["faults"] = [_validate_name(skill["name"]), _validate_frontmatter(text)]
        skill["content"] = json.loads(skill_view(skill["name"]))["content"]
print(json.dumps(found))
