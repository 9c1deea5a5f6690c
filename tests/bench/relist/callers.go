package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"time"

	"synergy.io/synergy/tests/bench/internal/call"
	"synergy.io/synergy/tests/bench/internal/review"
)

// The kinds of calls. While a watch is interrupted, the extender refuses pods with GPUs; it does
// not refuse others, and the controller does not refuse reviews.
const (
	answered = "filter, GPUs"
	refused  = "filter, GPUs, refused"
	service  = "filter, no GPUs"
	reviewed = "review, GPUs"
)

// filters calls the extender's filter: two of three calls are about pods with GPUs.
func filters(url string, nodes int) (caller, error) {
	client := call.NewClient(url)
	gpus, err := call.NewRequest(call.Names, nodes)
	if err != nil {
		return nil, err
	}
	none, err := call.NewRequest(call.Service, nodes)
	if err != nil {
		return nil, err
	}
	return func(index int) (string, time.Duration, error) {
		if index%3 == 2 {
			timing, err := client.Filter(none)
			return service, timing.Roundtrip, err
		}
		timing, err := client.Filter(gpus)
		if refusal := call.Refusal(""); errors.As(err, &refusal) {
			return refused, timing.Roundtrip, nil
		}
		return answered, timing.Roundtrip, err
	}, nil
}

// reviews sends reviews to the controller.
func reviews(url string, authority *x509.CertPool) caller {
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority}}, Timeout: 30 * time.Second}
	return func(index int) (string, time.Duration, error) {
		took, err := review.Ask(client, url, review.Body(index, false))
		return reviewed, took, err
	}
}
