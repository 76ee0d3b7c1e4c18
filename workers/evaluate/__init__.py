"""Our own code over labelled files: what the workers would make of them, as predictions that a scorer reads.

`nextlevel eval extraction|dedup|links` starts this as a process (`python -m nextlevel.workers.evaluate`), so that the
command line goes on depending on no role. Nothing here judges: what is asked are the very functions that the stages
use, and what they answer is written down.

* extraction: each turn takes the whole way (stream, ingest, extract, link, store) on stores of its own, since only
  what is stored has a status: replaced, in review, active. `ops/evaluate` starts those stores and throws them away.
* dedup, links: functions without I/O, called on each pair and each mention.

The fourth, retrieval, asks the running service over HTTP and is no worker's business: ops/evaluate/retrieval.py.
"""
