//go:build components

// Package containerd pins the containerd and the runc that real nodes of the test cluster run. It
// is a module of its own because these programs need other versions of the Kubernetes libraries
// than the cluster's programs.
package containerd

import (
	_ "github.com/containerd/containerd/v2/cmd/containerd"
	_ "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2"
	_ "github.com/containerd/containerd/v2/cmd/ctr"
	_ "github.com/opencontainers/runc"
)
