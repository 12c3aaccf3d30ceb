"""More than one machine: specialists that are started by nodes of a cluster, and watched by this orchestrator.

A node is a worker process of the cluster's own engine. What the engine does not do for a process it was asked to start
is done here: nothing of a specialist outlives its node, its task or its orchestrator, and whoever loses one knows it.
"""
