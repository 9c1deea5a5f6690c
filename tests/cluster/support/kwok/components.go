//go:build components

// Package kwok pins kwok's controller, which simulates the test cluster's nodes. It is a module of
// its own because kwok needs other versions of the Kubernetes libraries than the cluster's
// programs.
package kwok

import _ "sigs.k8s.io/kwok/cmd/kwok"
