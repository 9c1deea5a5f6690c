package main

import (
	"context"
	"fmt"
	"reflect"
	"sort"

	v1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeunschedulable"
)

// amounts maps resource names to milli CPU, bytes or whole units.
type amounts map[string]int64

type mixAnswer struct {
	podAnswer
	Fits          bool     `json:"fits"`
	Reasons       []string `json:"reasons"`
	Unresolvable  bool     `json:"unresolvable"`
	Unschedulable bool     `json:"unschedulable"`
	Allocatable   amounts  `json:"allocatable"`
	Requested     amounts  `json:"requested"`
	PodCount      int      `json:"podCount"`
}

// calculator has kube-scheduler's plugins as a scheduler with the default configuration has them.
type calculator struct {
	fit           *noderesources.Fit
	unschedulable fwk.FilterPlugin
}

// withoutDRA is a scheduler's handle whose only method says that there is no manager of dynamic
// resources.
type withoutDRA struct{ fwk.Handle }

func (withoutDRA) SharedDRAManager() fwk.SharedDRAManager { return nil }

func newCalculator() (*calculator, error) {
	gates := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	args := &config.NodeResourcesFitArgs{ScoringStrategy: &config.ScoringStrategy{
		Type:      config.LeastAllocated,
		Resources: []config.ResourceSpec{{Name: "cpu", Weight: 1}, {Name: "memory", Weight: 1}},
	}}
	fit, err := noderesources.NewFit(context.Background(), args, withoutDRA{}, gates)
	if err != nil {
		return nil, err
	}
	unschedulable, err := nodeunschedulable.New(context.Background(), nil, nil, gates)
	if err != nil {
		return nil, err
	}
	return &calculator{fit: fit.(*noderesources.Fit), unschedulable: unschedulable.(fwk.FilterPlugin)}, nil
}

func featureGates() map[string]bool {
	enabled := map[string]bool{}
	for _, gate := range []featuregate.Feature{
		features.InPlacePodVerticalScaling, features.PodLevelResources, features.InPlacePodLevelResourcesVerticalScaling,
		features.DRAExtendedResource, features.TaintTolerationComparisonOperators,
	} {
		enabled[string(gate)] = utilfeature.DefaultFeatureGate.Enabled(gate)
	}
	return enabled
}

func (c *calculator) preFilter(pod *v1.Pod) (fwk.CycleState, fwk.Resource, error) {
	state := framework.NewCycleState()
	if _, status := c.fit.PreFilter(context.Background(), state, pod, nil); !status.IsSuccess() {
		return nil, nil, status.AsError()
	}
	data, err := state.Read("PreFilter" + noderesources.Name)
	if err != nil {
		return nil, nil, err
	}
	// The state's type is private to the plugin, but its embedded Resource is not.
	request, ok := reflect.ValueOf(data).Elem().FieldByName("Resource").Addr().Interface().(*framework.Resource)
	if !ok {
		return nil, nil, fmt.Errorf("the plugin's state has changed its type")
	}
	return state, request, nil
}

func (c *calculator) requests(pod *v1.Pod) (podAnswer, error) {
	_, incoming, err := c.preFilter(pod)
	if err != nil {
		return podAnswer{}, err
	}
	info := framework.NewNodeInfo()
	info.AddPod(pod)
	return podAnswer{Incoming: toAmounts(incoming), Accounted: toAmounts(info.Requested)}, nil
}

// mix builds the node as the scheduler's cache does from its informers' events, and runs the
// filters for the pod.
func (c *calculator) mix(node *v1.Node, pods []*v1.Pod, pod *v1.Pod) (*mixAnswer, error) {
	info := framework.NewNodeInfo()
	info.SetNode(node)
	for _, other := range pods {
		terminal := other.Status.Phase == v1.PodSucceeded || other.Status.Phase == v1.PodFailed
		if other.Spec.NodeName == node.Name && other.Spec.NodeName != "" && !terminal {
			info.AddPod(other)
		}
	}
	state, _, err := c.preFilter(pod)
	if err != nil {
		return nil, err
	}
	status := c.fit.Filter(context.Background(), state, pod, info)
	answer := &mixAnswer{
		Fits:          status.IsSuccess(),
		Reasons:       []string{},
		Unresolvable:  status.Code() == fwk.UnschedulableAndUnresolvable,
		Unschedulable: !c.unschedulable.Filter(context.Background(), state, pod, info).IsSuccess(),
		Allocatable:   toAmounts(info.Allocatable),
		Requested:     toAmounts(info.Requested),
		PodCount:      len(info.Pods),
	}
	if status != nil {
		answer.Reasons = sortReasons(status.Reasons())
	}
	answer.Allocatable["pods"] = int64(info.Allocatable.AllowedPodNumber)
	return answer, nil
}

func toAmounts(resource fwk.Resource) amounts {
	result := amounts{
		string(v1.ResourceCPU):              resource.GetMilliCPU(),
		string(v1.ResourceMemory):           resource.GetMemory(),
		string(v1.ResourceEphemeralStorage): resource.GetEphemeralStorage(),
	}
	for name, amount := range resource.GetScalarResources() {
		if amount != 0 {
			result[string(name)] = amount
		}
	}
	return result
}

// sortReasons moves the scalar resources, which the plugin reports in random order, behind the
// others and sorts them by name.
func sortReasons(reasons []string) []string {
	rank := map[string]int{
		"Too many pods": -4, "Insufficient cpu": -3, "Insufficient memory": -2, "Insufficient ephemeral-storage": -1,
	}
	sorted := append([]string{}, reasons...)
	sort.Slice(sorted, func(a, b int) bool {
		if rank[sorted[a]] != rank[sorted[b]] {
			return rank[sorted[a]] < rank[sorted[b]]
		}
		return sorted[a] < sorted[b]
	})
	return sorted
}
