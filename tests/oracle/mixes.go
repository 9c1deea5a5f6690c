package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

const (
	kibi = int64(1) << 10
	mebi = int64(1) << 20
	gibi = int64(1) << 30
)

// extended has names that count as scalar resources, names that look as if they did, and other odd
// names.
var extended = []string{
	"nvidia.com/gpu", "amd.com/gpu", "example.com/fpga", "example.com/a_b.C-d", "hugepages-2Mi", "hugepages-1Gi", "attachable-volumes-aws-ebs",
	"foo.kubernetes.io/thing", "kubernetes.io/batch", "Nvidia.com/gpu", "requests.example.com/gpu", "example.com/-bad", "two/slashes/here",
	"storage", "pods", "unprefixed", "example.com/" + "n23456789012345678901234567890123456789012345678901234567890123",
	"example.com/" + "n234567890123456789012345678901234567890123456789012345678901234",
}

// mix returns a node with pods and a pod to place. A third of the nodes is random, a third has room
// for nearly everything, and a third has capacities within one unit of what is needed.
func (g *generator) mix() (object, error) {
	node := g.node("node-a")
	pods := []any{}
	for i := range g.random.IntN(7) {
		pods = append(pods, g.boundPod(i))
	}
	incoming := g.pod("incoming", pick(g, 1, 2, 4))
	switch g.random.IntN(8) {
	case 0:
		incoming["spec"] = object{"containers": []any{object{"name": "idle"}}}
	case 1, 2, 3:
		incoming["status"] = g.status(incoming["spec"].(object))
	}
	if g.chance(4) {
		incoming["spec"].(object)["tolerations"] = []any{g.toleration()}
	}
	mix := object{"node": node, "pods": pods, "pod": incoming}
	switch g.random.IntN(3) {
	case 0:
		g.makeRoom(node["status"].(object)["allocatable"].(object))
	case 1:
		return mix, g.makeTight(mix)
	}
	return mix, nil
}

func (g *generator) makeRoom(allocatable object) {
	allocatable["cpu"] = g.spell(1e9)
	allocatable["memory"] = "1Ei"
	allocatable["ephemeral-storage"] = "1Ei"
	allocatable["pods"] = "110"
	for _, name := range extended {
		if !g.chance(20) {
			allocatable[name] = "1Ei"
		}
	}
}

// makeTight sets the node's capacities close to what kube-scheduler says is needed: one unit less,
// exactly that, or one more.
func (g *generator) makeTight(mix object) error {
	line, err := json.Marshal(mix)
	if err != nil {
		return err
	}
	answer, ok := g.calculator.answer(line).(*mixAnswer)
	if !ok {
		return fmt.Errorf("the generator made an illegal input: %s", line)
	}
	needed := maps.Clone(answer.Requested)
	for name, amount := range answer.Incoming {
		needed[name] += amount
	}
	allocatable := mix["node"].(object)["status"].(object)["allocatable"].(object)
	for _, name := range slices.Sorted(maps.Keys(needed)) {
		amount := max(0, needed[name]+pick[int64](g, 0, 0, 0, 0, 0, 0, 1, -1))
		if name == "cpu" {
			allocatable[name] = fmt.Sprintf("%dm", amount)
		} else {
			allocatable[name] = fmt.Sprint(amount)
		}
	}
	allocatable["pods"] = fmt.Sprint(answer.PodCount + pick(g, 0, 1, 1, 1, 1, 2))
	return nil
}

func (g *generator) node(name string) object {
	allocatable := object{}
	put := func(resource string, milli int64) {
		if !g.chance(12) {
			allocatable[resource] = g.spell(milli)
		}
	}
	put("cpu", g.cpu(pick[int64](g, 2, 8, 64)))
	put("memory", g.bytes(pick[int64](g, 1, 16, 256)))
	put("pods", pick[int64](g, 110, 110, 110, 5, 3, 1, 0)*1000)
	if !g.chance(3) {
		put("ephemeral-storage", g.bytes(100))
	}
	for range g.random.IntN(4) {
		put(pick(g, extended...), g.scalar())
	}
	node := object{"metadata": object{"name": name}, "status": object{
		"allocatable": allocatable,
		"capacity":    object{"cpu": "9999", "memory": "9999Gi", "nvidia.com/gpu": "9999", "pods": "9999"},
	}}
	if g.chance(6) {
		node["spec"] = object{"unschedulable": true}
	}
	return node
}

// cpu returns an amount of milli CPU around the given number of cores.
func (g *generator) cpu(cores int64) int64 {
	switch g.random.IntN(6) {
	case 0:
		return 0
	case 1:
		return g.random.Int64N(10)
	case 2:
		return 500 * g.random.Int64N(2*cores+1)
	case 3:
		return 1000 * g.random.Int64N(cores+1)
	default:
		return g.random.Int64N(1000*cores + 1)
	}
}

// bytes returns an amount of milli bytes around the given number of GiB. Usually these are whole
// bytes. Sometimes the amount is far beyond any machine, but so small that sums over a node fit
// into an int64.
func (g *generator) bytes(gigabytes int64) int64 {
	switch g.random.IntN(12) {
	case 0:
		return 0
	case 1:
		return g.random.Int64N(5000)
	case 2:
		return pick[int64](g, 1e18, 1000<<50, 5e18)
	case 3:
		return 1000 * (g.random.Int64N(2*gigabytes+1) * gibi / 2)
	case 4:
		return 1000 * (g.random.Int64N(gigabytes*1024+1) * mebi)
	case 5:
		return 1000 * (g.random.Int64N(gigabytes*mebi+1) * kibi)
	case 6:
		return 1e9 * g.random.Int64N(1000*gigabytes+1)
	case 7:
		return 1e12 * g.random.Int64N(gigabytes+1)
	default:
		return 1000 * g.random.Int64N(gigabytes*gibi+1)
	}
}

func (g *generator) scalar() int64 {
	return 1000 * pick[int64](g, 0, 1, 1, 2, 3, 4, 8, 16, 512*mebi, 2*mebi)
}

// resources returns a list of amounts for one container, of a size with which a few containers fill
// a node.
func (g *generator) resources(extendedNames int) object {
	list := object{}
	if !g.chance(5) {
		list["cpu"] = g.spell(g.cpu(pick[int64](g, 1, 4, 16)))
	}
	if !g.chance(5) {
		list["memory"] = g.spell(g.bytes(pick[int64](g, 1, 4, 32)))
	}
	if g.chance(4) {
		list["ephemeral-storage"] = g.spell(g.bytes(10))
	}
	for range g.random.IntN(extendedNames + 1) {
		list[pick(g, extended...)] = g.spell(g.scalar())
	}
	return list
}

func (g *generator) toleration() object {
	toleration := object{}
	put := func(field string, values ...string) {
		if value := pick(g, values...); value != "" {
			toleration[field] = value
		}
	}
	put("key", "", "node.kubernetes.io/unschedulable", "node.kubernetes.io/unschedulable", "example.com/other")
	put("operator", "", "Exists", "Exists", "Equal", "Lt", "Gt")
	put("value", "", "", "", "1")
	put("effect", "", "NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule")
	return toleration
}

func containerName(kind string, index int) string { return fmt.Sprintf("%s-%d", kind, index) }
