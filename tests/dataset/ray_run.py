"""A build on two raylets of this machine, one of which is killed half-way: `python ray_run.py CLIPS OUT`."""

import json
import sys

import ray
from ray.cluster_utils import Cluster

from marrow import dataset

OPTIONS = {"features": "rotations positions", "joints": "!*_end", "window": 8, "shard_mb": 0.02}


def main(clips: str, out: str) -> None:
    small = {"num_cpus": 1, "object_store_memory": 80 << 20}
    cluster = Cluster(initialize_head=True, head_node_args={**small, "include_dashboard": False})
    second = cluster.add_node(**small)
    ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
    dataset.build(clips, f"{out}/whole", on="ray", **OPTIONS)
    killed = []

    def half_way(progress: dataset.Progress) -> None:
        if not killed and progress.done > progress.sources / 3:
            killed.append(progress.done)
            cluster.remove_node(second, allow_graceful=False)

    dataset.build(clips, f"{out}/wounded", on="ray", progress=half_way, **OPTIONS)
    print(json.dumps({"killed": killed}))
    ray.shutdown()
    cluster.shutdown()


if __name__ == "__main__":
    main(*sys.argv[1:])
