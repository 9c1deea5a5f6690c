//go:build components

// Package kueue pins the Kueue that the test cluster runs, the operators of the jobs that Kueue
// suspends there (JobSet and Kubeflow Trainer), and MPI operator and LeaderWorkerSet, which tests
// in the long tier run. It is a module of its own because these programs need other versions of the
// Kubernetes libraries than the cluster's programs. The operators share most of what is compiled
// with Kueue.
package kueue

import (
	_ "github.com/kubeflow/mpi-operator/cmd/mpi-operator"
	_ "github.com/kubeflow/trainer/v2/cmd/trainer-controller-manager"
	_ "sigs.k8s.io/jobset"
	_ "sigs.k8s.io/kueue/cmd/kueue"
	_ "sigs.k8s.io/lws/cmd"
)
