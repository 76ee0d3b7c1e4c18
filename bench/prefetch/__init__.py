"""How long does recall hold up a turn?

From the plugin's `prefetch`, in agents that are processes of their own, over HTTP to the real service on embedded
stores. HIT: the same question of the same memory again. MISS: a question never asked before, embedded for real. In the
same rounds: a bare Redis GET and a bare Postgres round trip as floors, and the prefetch of two other memories that hold
the same blocks. Beside the scope that is asked stand ten others. Then the same with a busy worker, with an embedding
endpoint that answers in 5 ms, and what the tiers take by themselves.
"""
