//go:build components

// Package helm pins the Helm with which the chart is tested. It is a module of its own because Helm
// needs other versions of the Kubernetes libraries than the cluster's programs.
package helm

import _ "helm.sh/helm/v3/cmd/helm"
