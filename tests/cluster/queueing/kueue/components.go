//go:build components

// Package kueue pins the Kueue that the test cluster runs, the operators of the jobs that it suspends there (JobSet and
// Kubeflow Trainer), and MPI operator and LeaderWorkerSet, which the long tier of tests runs. It is a module of its own
// because they need other versions of the Kubernetes libraries than the cluster's programs; with Kueue's the operators share
// most of what is compiled.
package kueue

import (
	_ "github.com/kubeflow/mpi-operator/cmd/mpi-operator"
	_ "github.com/kubeflow/trainer/v2/cmd/trainer-controller-manager"
	_ "sigs.k8s.io/jobset"
	_ "sigs.k8s.io/kueue/cmd/kueue"
	_ "sigs.k8s.io/lws/cmd"
)
