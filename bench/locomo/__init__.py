"""Which past turns answer a question? LoCoMo, through the product as it is served, beside other ways to search.

The turns are published over HTTP, worked on, indexed and embedded; the questions are asked of `POST /v1/recall` in mode
search. BM25, dense and rank fusion run over the same turns with the same vectors. So did three peers, once
(bench.locomo.peers): what they ranked is scored again. Constants were tuned on judge.TUNED_ON alone: the other
conversations are reported apart. LoCoMo is CC BY-NC and stays where it is: LOCOMO names its directory.
"""
