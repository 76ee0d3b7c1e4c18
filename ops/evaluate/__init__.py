"""`nextlevel eval`: the product judged on labelled files, on stores of its own that are thrown away afterwards.

Who does what follows from who may import whom. The workers' own functions answer extraction, dedup and links: they run
as a process, `python -m nextlevel.workers.evaluate`, that we start (worker.py), since ops imports no role. Retrieval is
asked of the served product over HTTP (retrieval.py), since workers serve nothing. ground.py makes the stores.
"""
