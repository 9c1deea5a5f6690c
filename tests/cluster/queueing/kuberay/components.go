//go:build components

// Package kuberay pins the KubeRay that the long tier of tests runs. It is a module of its own because it needs an older
// controller-runtime than the other operators.
package kuberay

import _ "github.com/ray-project/kuberay/ray-operator"
