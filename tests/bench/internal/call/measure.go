package call

import (
	"fmt"
	"runtime"
	"time"

	"synergy.io/synergy/tests/bench/internal/fixture"
	"synergy.io/synergy/tests/bench/internal/summary"
)

// Samples are the times of many calls of one verb.
type Samples struct {
	Roundtrip  []time.Duration
	WithDecode []time.Duration
}

// Summary is the distribution of both times.
type Summary struct {
	Roundtrip  summary.Latency `json:"roundtrip"`
	WithDecode summary.Latency `json:"with_decode"`
}

// Summary summarises the samples.
func (s *Samples) Summary() Summary {
	return Summary{Roundtrip: summary.Latencies(s.Roundtrip), WithDecode: summary.Latencies(s.WithDecode)}
}

func (s *Samples) add(timing Timing) {
	s.Roundtrip = append(s.Roundtrip, timing.Roundtrip)
	s.WithDecode = append(s.WithDecode, timing.WithDecode)
}

// Cycles has the samples of the two calls that kube-scheduler makes for every pod.
type Cycles struct {
	Filter     Samples
	Prioritize Samples
}

// distinctPods is how many pods are used in turn. An extender may reserve a place for a pod for
// which it has ranked nodes and that is not bound yet. There are no more pods than a node has free
// GPUs, so these places never make a node refuse one.
const distinctPods = fixture.GPUsPerNode - fixture.PodsPerNode

// Run schedules count pods, beginning with the given index, and adds the times. It ends at the
// first wrong answer.
func (c *Cycles) Run(client *Client, request *Request, firstPod, count int) error {
	runtime.GC()
	for pod := firstPod; pod < firstPod+count; pod++ {
		if err := request.SetPod(pod % distinctPods); err != nil {
			return err
		}
		for _, verb := range []struct {
			call    func(*Request) (Timing, error)
			samples *Samples
		}{{client.Filter, &c.Filter}, {client.Prioritize, &c.Prioritize}} {
			// Collect garbage now: tens of megabytes of decoded data must not be collected during the next
			// call.
			if request.Mode == Nodes {
				runtime.GC()
			}
			timing, err := verb.call(request)
			if err != nil {
				return fmt.Errorf("%s mode, pod %d: %w", request.Mode, pod, err)
			}
			verb.samples.add(timing)
		}
	}
	return nil
}
