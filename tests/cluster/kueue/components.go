//go:build components

// Package kueue pins the Kueue that the test cluster runs. It is a module of its own because Kueue needs other versions of
// the Kubernetes libraries than the cluster's programs.
package kueue

import _ "sigs.k8s.io/kueue/cmd/kueue"
