//go:build components

// Package kuberay pins the KubeRay that tests in the long tier run. It is a module of its own
// because KubeRay needs an older controller-runtime than the other operators.
package kuberay

import _ "github.com/ray-project/kuberay/ray-operator"
