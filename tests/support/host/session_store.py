"""Tell the host's own session store a conversation, as its agent does, and print where it lies."""

import json
import os
import sys
from pathlib import Path

from hermes_state import SessionDB

wanted = json.loads(sys.argv[1])
store = SessionDB(Path(os.environ["HERMES_HOME"]) / "state.db")
store.create_session(wanted["session"], "cli")
for message in wanted["messages"]:
    store.append_message(wanted["session"], **message)
store.close()
print(json.dumps({"session": wanted["session"]}))
