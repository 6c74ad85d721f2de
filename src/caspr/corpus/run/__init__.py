"""Perform jobs: in worker processes, on this machine or a cluster, with a journal of what is done.

perform          one job: read, adjudicate, render
worker_main      the program of a worker process, which performs jobs
worker_process   a worker process, seen from the process that supervises it
pool, cluster    many worker processes: on this machine, on the machines of a Dask cluster
journal          the documents that are done
memory           memory limit and peak of a worker process
workspace        temporary folders
"""
