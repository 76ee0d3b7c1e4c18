"""Extraction by rules: no model, no key, no network; a millisecond or two a turn.

The way of a turn (engine.py, drafts.py): its text is cut into clauses (`nextlevel.lang`), each gets a stance
(stance.py: a question, a wish of today, a quotation, …; most end here), the rest becomes candidates by patterns
(rules.toml), directives (directive.py) and plain statements (statement.py), always with the clause itself as span. What
somebody else says (a tool, a pasted text, the assistant) is no source here, except what the user accepts (accepted.py)
and what the agent did for them (actions.py).

To add a language, say `fr`:

1. `rules/fr/cues.toml`: copy `en/`, and write the words anew, not word by word. Every list may be empty. What they mean
   stands in comments there; the code asks for them by name in stance.py, directive.py and statement.py.
2. `rules/fr/rules.toml`: patterns of slots and relations. Begin with ports, roles, names; a handful goes far.
3. `predicates.toml`: a list `fr = […]` of verb phrases under each predicate that has natural ones.
4. `temporal.toml`: a table `[fr]` of date words. `nextlevel/lang/data/stopwords.fr.txt`, and its code in `detect.py`.
5. `tests/workers/steps/extract/test_rules_fr.py`: a sentence for each kind, and one for each thing not to keep.
"""

from .engine import extract

__all__ = ["extract"]
