package main

import "fmt"

// pod returns a pod without status: with containers, init containers and sidecars, overhead and
// pod-level resources.
func (g *generator) pod(name string, containers int) object {
	spec := object{"containers": g.containers("app", 1+g.random.IntN(containers), false)}
	if g.chance(3) {
		spec["initContainers"] = g.containers("init", 1+g.random.IntN(4), true)
	}
	if g.chance(6) {
		spec["overhead"] = g.resources(1)
	}
	if g.chance(5) {
		spec["resources"] = g.podLevel()
	}
	return object{
		"metadata": object{"name": name, "namespace": "default", "uid": "uid-" + name},
		"spec":     spec,
		"status":   object{"phase": "Pending"},
	}
}

func (g *generator) containers(kind string, count int, init bool) []any {
	containers := []any{}
	for i := range count {
		container := object{"name": containerName(kind, i)}
		resources := object{}
		if !g.chance(6) {
			resources["requests"] = g.resources(2)
		}
		if g.chance(3) {
			resources["limits"] = g.resources(2)
		}
		if len(resources) > 0 || g.chance(2) {
			container["resources"] = resources
		}
		if init && g.chance(2) {
			container["restartPolicy"] = pick(g, "Always", "Always", "Always", "OnFailure", "Never")
		}
		containers = append(containers, container)
	}
	return containers
}

// podLevel returns resources with the names that pod-level resources support, sometimes without any
// of them, and sometimes with others.
func (g *generator) podLevel() object {
	list := func() object {
		resources := object{}
		for _, name := range []string{"cpu", "memory", "hugepages-2Mi", "nvidia.com/gpu", "ephemeral-storage"} {
			if !g.chance(2) {
				continue
			}
			switch name {
			case "cpu":
				resources[name] = g.spell(g.cpu(8))
			case "nvidia.com/gpu":
				resources[name] = g.spell(g.scalar())
			default:
				resources[name] = g.spell(g.bytes(8))
			}
		}
		return resources
	}
	switch g.random.IntN(5) {
	case 0:
		return object{}
	case 1:
		return object{"limits": list()}
	case 2:
		return object{"requests": list(), "limits": list()}
	default:
		return object{"requests": list()}
	}
}

// boundPod returns a pod that may be on the node: with the status that a resize leaves, being
// deleted, terminal, or on another node.
func (g *generator) boundPod(index int) object {
	pod := g.pod(fmt.Sprintf("bound-%d", index), 3)
	spec := pod["spec"].(object)
	spec["nodeName"] = "node-a"
	if g.chance(15) {
		spec["nodeName"] = "node-b"
	} else if g.chance(25) {
		delete(spec, "nodeName")
	}
	if g.chance(10) {
		pod["metadata"].(object)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
	}
	pod["status"] = g.status(spec)
	return pod
}

func (g *generator) status(spec object) object {
	status := object{"phase": pick(g, "Running", "Running", "Running", "Running", "Pending", "Unknown", "Succeeded", "Failed")}
	if g.chance(20) {
		delete(status, "phase")
	}
	if !g.chance(3) {
		status["containerStatuses"] = g.statuses(spec["containers"].([]any))
		if containers, found := spec["initContainers"]; found && !g.chance(3) {
			status["initContainerStatuses"] = g.statuses(containers.([]any))
		}
	}
	if g.chance(2) {
		status["conditions"] = g.conditions()
	}
	if g.chance(4) {
		status["resources"] = pick[any](g, nil, object{}, object{"requests": g.resources(1)}, object{"requests": g.resources(1)})
	}
	if g.chance(4) {
		status["allocatedResources"] = g.resources(1)
	}
	return status
}

// statuses reports each container's resources as equal to the spec, different, in part or not at
// all, sometimes under a name that no container has.
func (g *generator) statuses(containers []any) []any {
	statuses := []any{}
	for _, entry := range containers {
		container := entry.(object)
		if g.chance(8) {
			continue
		}
		status := object{"name": container["name"]}
		if g.chance(20) {
			status["name"] = "unknown"
		}
		switch g.random.IntN(6) {
		case 0:
		case 1:
			status["resources"] = nil
		case 2:
			status["resources"] = object{}
		case 3:
			if resources, found := container["resources"]; found {
				status["resources"] = resources
			}
		default:
			status["resources"] = object{"requests": g.resources(1), "limits": g.resources(1)}
		}
		if !g.chance(3) {
			status["allocatedResources"] = g.resources(1)
		}
		statuses = append(statuses, status)
	}
	return statuses
}

func (g *generator) conditions() []any {
	conditions := []any{object{"type": "Ready", "status": "True"}}
	for range 1 + g.random.IntN(2) {
		conditions = append(conditions, pick(g,
			object{"type": "PodResizePending", "status": "True", "reason": "Infeasible"},
			object{"type": "PodResizePending", "status": "True", "reason": "Infeasible"},
			object{"type": "PodResizePending", "status": "True", "reason": "Deferred"},
			object{"type": "PodResizePending", "status": "False", "reason": "Infeasible"},
			object{"type": "PodResizeInProgress", "status": "True"},
			object{"type": "PodResizeInProgress", "status": "True", "reason": "Error"},
			object{"type": "PodResizeInProgress", "status": "True", "reason": "Infeasible"}))
	}
	return conditions
}
