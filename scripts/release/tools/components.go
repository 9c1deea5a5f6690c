//go:build components

// Package tools pins the programs that scripts/release uses, and the program that checks workflows.
package tools

import (
	_ "github.com/anchore/syft/cmd/syft"
	_ "github.com/google/go-containerregistry/cmd/crane"
	_ "github.com/rhysd/actionlint/cmd/actionlint"
	_ "github.com/sigstore/cosign/v3/cmd/cosign"
)
