package call

import (
	"fmt"

	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"synergy.io/synergy/tests/bench/internal/fixture"
)

// Filter calls filter. All nodes of the fixture have room for the pod, so it is an error if the
// answer lacks one.
func (c *Client) Filter(r *Request) (Timing, error) {
	var result extenderv1.ExtenderFilterResult
	timing, err := c.post("filter", r.body, &result)
	if err != nil {
		return Timing{}, err
	}
	// A refusal is measured, too.
	return timing, r.checkFilter(&result)
}

// Prioritize calls prioritize; every node must have one score.
func (c *Client) Prioritize(r *Request) (Timing, error) {
	var result extenderv1.HostPriorityList
	timing, err := c.post("prioritize", r.body, &result)
	if err != nil {
		return Timing{}, err
	}
	return timing, r.checkPriorities(result)
}

// Refusal is an extender's answer that it cannot decide now.
type Refusal string

func (r Refusal) Error() string { return string(r) }

func (r *Request) checkFilter(result *extenderv1.ExtenderFilterResult) error {
	if result.Error != "" {
		return fmt.Errorf("filter: %w", Refusal(result.Error))
	}
	names := []string{}
	// kube-scheduler reads names only if it sent names.
	if r.Mode != Nodes && result.NodeNames != nil {
		names = *result.NodeNames
	} else if result.Nodes != nil {
		for i := range result.Nodes.Items {
			node := &result.Nodes.Items[i]
			if r.Mode == Nodes && node.Status.Allocatable.Name(fixture.GPU, "").IsZero() {
				return fmt.Errorf("filter: node %q came back without its allocatable resources", node.Name)
			}
			names = append(names, node.Name)
		}
	}
	for name, reason := range result.FailedNodes {
		return fmt.Errorf("filter: %d nodes failed, the first is %s: %s", len(result.FailedNodes), name, reason)
	}
	return r.checkNames("filter", names)
}

func (r *Request) checkPriorities(priorities extenderv1.HostPriorityList) error {
	names := []string{}
	for _, priority := range priorities {
		if priority.Score < extenderv1.MinExtenderPriority || priority.Score > extenderv1.MaxExtenderPriority {
			return fmt.Errorf("prioritize: %s has the score %d", priority.Host, priority.Score)
		}
		names = append(names, priority.Host)
	}
	return r.checkNames("prioritize", names)
}

func (r *Request) checkNames(verb string, names []string) error {
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if !r.names[name] {
			return fmt.Errorf("%s: %q was not offered", verb, name)
		}
		if seen[name] {
			return fmt.Errorf("%s: %q came twice", verb, name)
		}
		seen[name] = true
	}
	if len(names) != len(r.names) {
		return fmt.Errorf("%s: %d of %d nodes", verb, len(names), len(r.names))
	}
	return nil
}
