-- A trace quotes what was weighed; when that is forgotten, its words go.
GRANT UPDATE (facts) ON trace_events TO nextlevel_app;
