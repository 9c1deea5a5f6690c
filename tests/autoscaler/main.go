// Program karpenter prints which machine Karpenter would add for each pod. It uses Karpenter's own
// scheduler and the instance types of its kwok provider.
//
//	karpenter INSTANCE_TYPES < pods
//
// INSTANCE_TYPES is a file in the provider's format. The pods are a List as kubectl prints it. The
// program prints one line for each pod: its name, and the instance types that Karpenter would
// request, cheapest first, or "-" if Karpenter would add no machine.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/log"

	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	kwokoptions "sigs.k8s.io/karpenter/kwok/options"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	podutil "sigs.k8s.io/karpenter/pkg/utils/pod"
)

func choose(instanceTypesFile string, pods []*corev1.Pod) (map[string]string, error) {
	ctx := kwokoptions.ToContext(context.Background(), &kwokoptions.Options{InstanceTypesFilePath: instanceTypesFile})
	ctx = options.ToContext(ctx, &options.Options{})
	types, err := kwok.ConstructInstanceTypes(ctx)
	if err != nil {
		return nil, err
	}
	// The pods' node selector "pool" selects this pool.
	pool := &v1.NodePool{
		ObjectMeta: metav1.ObjectMeta{Name: "new", UID: "new"},
		Spec: v1.NodePoolSpec{Template: v1.NodeClaimTemplate{
			ObjectMeta: v1.ObjectMeta{Labels: map[string]string{"pool": "new"}},
			Spec: v1.NodeClaimTemplateSpec{
				NodeClassRef: &v1.NodeClassReference{Group: "karpenter.kwok.sh", Kind: "KWOKNodeClass", Name: "new"},
			},
		}},
	}
	byPool := map[string][]*cloudprovider.InstanceType{pool.Name: types}
	client := fake.NewClientBuilder().Build()
	clock := clock.RealClock{}
	cluster := state.NewCluster(clock, client, kwok.NewCloudProvider(ctx, client, types))
	topology, err := scheduling.NewTopology(ctx, client, cluster, nil, []*v1.NodePool{pool}, byPool, pods)
	if err != nil {
		return nil, err
	}
	scheduler := scheduling.NewScheduler(ctx, client, []*v1.NodePool{pool}, cluster, nil, topology, byPool, nil,
		events.NewRecorder(&record.FakeRecorder{}), clock, nil)
	results, err := scheduler.Solve(ctx, pods)
	if err != nil {
		return nil, err
	}
	choices := map[string]string{}
	for _, claim := range results.NewNodeClaims {
		names := []string{}
		for _, instanceType := range claim.InstanceTypeOptions.OrderByPrice(claim.Requirements) {
			names = append(names, instanceType.Name)
		}
		for _, pod := range claim.Pods {
			choices[pod.Name] = strings.Join(names, " ")
		}
	}
	return choices, nil
}

func run() error {
	log.SetLogger(logr.Discard())
	if len(os.Args) != 2 {
		return fmt.Errorf("usage: karpenter INSTANCE_TYPES < pods")
	}
	var list corev1.PodList
	if err := json.NewDecoder(os.Stdin).Decode(&list); err != nil {
		return fmt.Errorf("pods: %w", err)
	}
	pods := []*corev1.Pod{}
	for i := range list.Items {
		if podutil.IsProvisionable(&list.Items[i]) {
			pods = append(pods, &list.Items[i])
		}
	}
	choices, err := choose(os.Args[1], pods)
	if err != nil {
		return err
	}
	lines := []string{}
	for _, pod := range list.Items {
		choice := choices[pod.Name]
		if choice == "" {
			choice = "-"
		}
		lines = append(lines, pod.Name+" "+choice)
	}
	sort.Strings(lines)
	fmt.Println(strings.Join(lines, "\n"))
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "karpenter:", err)
		os.Exit(1)
	}
}
