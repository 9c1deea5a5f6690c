package call

import (
	"bytes"
	"encoding/json"
	"fmt"

	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"synergy.io/synergy/tests/bench/internal/fixture"
)

// Mode is how kube-scheduler sends the nodes.
type Mode string

// The first two are nodeCacheCapable true and false. The others are nodeCacheCapable true with a
// pod that requests extended resources beside GPUs, and with a pod that requests no GPUs.
const (
	Names    Mode = "names"
	Nodes    Mode = "nodes"
	Extended Mode = "extended"
	Service  Mode = "service"
)

func incomingPod(mode Mode, index int) *v1.Pod {
	switch mode {
	case Extended:
		return fixture.IncomingPodOnFastNetworks(index)
	case Service:
		return fixture.IncomingServicePod(index)
	default:
		return fixture.IncomingPod(index)
	}
}

// Request has the encoded arguments of filter and prioritize. Its pod can be replaced without
// encoding the nodes again.
type Request struct {
	Mode  Mode
	names map[string]bool
	body  []byte
	// podAt is where the pod's JSON starts and ends in body.
	podAt, podEnd int
}

// NewRequest makes a request that offers the first nodeCount nodes of the fixture.
func NewRequest(mode Mode, nodeCount int) (*Request, error) {
	pod := incomingPod(mode, 0)
	args := extenderv1.ExtenderArgs{Pod: pod}
	r := &Request{Mode: mode, names: map[string]bool{}}
	names := []string{}
	nodes := &v1.NodeList{}
	for i := range nodeCount {
		name := fixture.NodeName(i)
		r.names[name] = true
		if mode != Nodes {
			names = append(names, name)
		} else {
			nodes.Items = append(nodes.Items, *fixture.Node(i))
		}
	}
	if mode != Nodes {
		args.NodeNames = &names
	} else {
		args.Nodes = nodes
	}
	var err error
	if r.body, err = json.Marshal(args); err != nil {
		return nil, err
	}
	encodedPod, err := json.Marshal(pod)
	if err != nil {
		return nil, err
	}
	r.podAt = bytes.Index(r.body, encodedPod)
	r.podEnd = r.podAt + len(encodedPod)
	if r.podAt < 0 {
		return nil, fmt.Errorf("the pod is not in the request as it is on its own")
	}
	return r, nil
}

// SetPod replaces the pod.
func (r *Request) SetPod(index int) error {
	encoded, err := json.Marshal(incomingPod(r.Mode, index))
	if err != nil {
		return err
	}
	if len(encoded) != r.podEnd-r.podAt {
		return fmt.Errorf("pod %d has %d bytes of JSON, others have %d", index, len(encoded), r.podEnd-r.podAt)
	}
	copy(r.body[r.podAt:r.podEnd], encoded)
	return nil
}

// Size is the number of bytes sent.
func (r *Request) Size() int { return len(r.body) }
