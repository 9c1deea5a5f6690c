package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"synergy.io/synergy/tests/bench/internal/fixture"
)

// bindings watches a round's pods and records when each first has a node.
type bindings struct {
	mutex  sync.Mutex
	nodeOf map[string]string
	first  time.Time
	last   time.Time
	wanted int
	all    chan struct{}
	stop   context.CancelFunc
}

func (c *cluster) watchBindings(ctx context.Context, round string, wanted int) (*bindings, error) {
	ctx, stop := context.WithCancel(ctx)
	b := &bindings{nodeOf: map[string]string{}, wanted: wanted, all: make(chan struct{}), stop: stop}
	factory := informers.NewSharedInformerFactoryWithOptions(c.client, 0, informers.WithNamespace(namespace),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = roundLabel + "=" + round }))
	informer := factory.Core().V1().Pods().Informer()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { b.see(object.(*v1.Pod)) },
		UpdateFunc: func(_, object any) { b.see(object.(*v1.Pod)) },
	})
	if err != nil {
		stop()
		return nil, err
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		stop()
		return nil, context.Cause(ctx)
	}
	if known := len(informer.GetStore().ListKeys()); known != wanted {
		stop()
		return nil, fmt.Errorf("the watch starts with %d pods instead of %d", known, wanted)
	}
	return b, nil
}

func (b *bindings) see(pod *v1.Pod) {
	now := time.Now()
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if _, seen := b.nodeOf[pod.Name]; seen || pod.Spec.NodeName == "" {
		return
	}
	b.nodeOf[pod.Name] = pod.Spec.NodeName
	if len(b.nodeOf) == 1 {
		b.first = now
	}
	b.last = now
	if len(b.nodeOf) == b.wanted {
		close(b.all)
	}
}

// wait returns the rate from the first binding to the last, and checks that no node got more pods than it has GPUs.
func (b *bindings) wait(ctx context.Context, timeout time.Duration) (podsPerSecond float64, err error) {
	defer b.stop()
	select {
	case <-b.all:
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	case <-time.After(timeout):
		b.mutex.Lock()
		defer b.mutex.Unlock()
		return 0, fmt.Errorf("%d of %d pods were bound in %v", len(b.nodeOf), b.wanted, timeout)
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	podsOn := map[string]int{}
	for _, node := range b.nodeOf {
		if podsOn[node]++; podsOn[node] > fixture.GPUsPerNode {
			return 0, fmt.Errorf("node %s has %d pods with a GPU each", node, podsOn[node])
		}
	}
	return float64(b.wanted-1) / b.last.Sub(b.first).Seconds(), nil
}
