package main

import (
	"context"
	"fmt"
	"log"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"

	"synergy.io/synergy/tests/bench/internal/fixture"
)

const (
	namespace     = "synergy-bench"
	roundLabel    = "synergy.test/round"
	workersAtOnce = 16
)

type cluster struct {
	client kubernetes.Interface
}

func connect(kubeconfig string) (*cluster, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = 5000, 5000
	config.AcceptContentTypes, config.ContentType = runtime.ContentTypeProtobuf+","+runtime.ContentTypeJSON, runtime.ContentTypeProtobuf
	client, err := kubernetes.NewForConfig(config)
	return &cluster{client}, err
}

// prepare creates the namespace and waits for its service account, without which no pod can be
// created.
func (c *cluster) prepare(ctx context.Context) error {
	_, err := c.client.CoreV1().Namespaces().Create(ctx,
		&v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	if err := c.deletePods(ctx); err != nil {
		return err
	}
	return poll(ctx, time.Minute, "service account default", func() (bool, error) {
		_, err := c.client.CoreV1().ServiceAccounts(namespace).Get(ctx, "default", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
}

func (c *cluster) cleanUp() {
	// A signal may have cancelled the context of the run; delete everything all the same.
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if err := c.deletePods(ctx); err != nil {
		log.Printf("deleting the pods: %v", err)
	}
	_ = c.client.CoreV1().Namespaces().Delete(ctx, namespace, metav1.DeleteOptions{})
}

func (c *cluster) createPods(ctx context.Context, round, schedulerName string, count int) error {
	names := []string{}
	for number := range count {
		names = append(names, fmt.Sprintf("%s-%05d", round, number))
	}
	return forEach(names, func(name string) error {
		_, err := c.client.CoreV1().Pods(namespace).Create(ctx, benchPod(name, round, schedulerName), metav1.CreateOptions{})
		return err
	})
}

// forEach calls do for every name, a few at a time, and returns one of the errors.
func forEach(names []string, do func(name string) error) error {
	queue := make(chan string)
	var (
		workers sync.WaitGroup
		once    sync.Once
		failure error
	)
	for range workersAtOnce {
		workers.Go(func() {
			for name := range queue {
				if err := do(name); err != nil {
					once.Do(func() { failure = err })
				}
			}
		})
	}
	for _, name := range names {
		queue <- name
	}
	close(queue)
	workers.Wait()
	return failure
}

func benchPod(name, round, schedulerName string) *v1.Pod {
	amounts := v1.ResourceList{
		v1.ResourceCPU: resource.MustParse("3"), v1.ResourceMemory: resource.MustParse("60Gi"), fixture.GPU: resource.MustParse("1"),
	}
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: map[string]string{roundLabel: round}},
		Spec: v1.PodSpec{
			SchedulerName: schedulerName, RestartPolicy: v1.RestartPolicyNever, AutomountServiceAccountToken: ptr.To(false),
			NodeSelector: map[string]string{"synergy.test/node": "simulated"},
			Tolerations:  []v1.Toleration{{Operator: v1.TolerationOpExists}},
			Containers: []v1.Container{{
				Name: "trainer", Image: "registry.example.com/training-image:1", ImagePullPolicy: v1.PullIfNotPresent,
				Resources: v1.ResourceRequirements{Requests: amounts, Limits: v1.ResourceList{fixture.GPU: amounts[fixture.GPU]}},
			}},
		},
	}
}

// deletePods deletes pods one by one. An API server carries out a DeleteCollection one pod after
// the other, which takes longer.
func (c *cluster) deletePods(ctx context.Context) error {
	pods := c.client.CoreV1().Pods(namespace)
	return poll(ctx, 5*time.Minute, "deletion of the pods", func() (bool, error) {
		left, err := pods.List(ctx, metav1.ListOptions{})
		if err != nil || len(left.Items) == 0 {
			return err == nil, err
		}
		names := []string{}
		for i := range left.Items {
			names = append(names, left.Items[i].Name)
		}
		return false, forEach(names, func(name string) error {
			err := pods.Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return err
		})
	})
}

func poll(ctx context.Context, timeout time.Duration, what string, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%s took longer than %v", what, timeout))
	defer cancel()
	for {
		finished, err := done()
		if err != nil || finished {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
