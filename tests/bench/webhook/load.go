package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"synergy.io/synergy/tests/bench/internal/fixture"
	"synergy.io/synergy/tests/bench/internal/review"
	"synergy.io/synergy/tests/bench/internal/summary"
)

// load is a way to send reviews.
type load struct {
	name string
	// pace is the time between the reviews of a connection; 0: each follows the last one's answer.
	pace        time.Duration
	connections int
	// selective: pods may use only a third of the nodes, each one of three thirds.
	selective bool
	// churn is how many pods are created per second meanwhile, so that the controller's copy of the
	// cluster changes all the time.
	churn int
}

var loads = []load{
	{name: "one after the other", connections: 1},
	{name: "100 per second while pods come", connections: 1, pace: 10 * time.Millisecond, churn: 100},
	{name: "100 per second of selective pods while pods come", connections: 1, pace: 10 * time.Millisecond, churn: 100, selective: true},
	{name: "4 connections, 400 per second while pods come", connections: 4, pace: 10 * time.Millisecond, churn: 100, selective: true},
}

type loadResult struct {
	Name      string          `json:"name"`
	Bytes     int             `json:"request_bytes"`
	Latency   summary.Latency `json:"roundtrip"`
	PerSecond float64         `json:"per_second"`
	// Within is the fraction of reviews that the controller answered within a millisecond after it had
	// the whole request.
	Within float64 `json:"own_time_within_1ms"`
}

func (l *load) measure(url, api string, authority *x509.CertPool, reviews int) (*loadResult, error) {
	if l.pace > 0 {
		reviews /= 5
	}
	var churning sync.WaitGroup
	done := make(chan struct{})
	if l.churn > 0 {
		churning.Add(1)
		go func() {
			defer churning.Done()
			churn(api, l.churn, done)
		}()
	}
	samples := make([][]time.Duration, l.connections)
	failures := make([]error, l.connections)
	started := time.Now()
	var callers sync.WaitGroup
	for c := range l.connections {
		callers.Add(1)
		go func() {
			defer callers.Done()
			samples[c], failures[c] = l.call(url, authority, c, reviews)
		}()
	}
	callers.Wait()
	took := time.Since(started)
	close(done)
	churning.Wait()
	all := []time.Duration{}
	for c := range l.connections {
		if failures[c] != nil {
			return nil, failures[c]
		}
		all = append(all, samples[c]...)
	}
	return &loadResult{
		Name: l.name, Bytes: len(review.Body(0, l.selective)), Latency: summary.Latencies(all), PerSecond: float64(len(all)) / took.Seconds(),
	}, nil
}

// call sends the reviews of one connection.
func (l *load) call(url string, authority *x509.CertPool, connection, reviews int) ([]time.Duration, error) {
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority}}, Timeout: 10 * time.Second}
	defer client.CloseIdleConnections()
	samples := make([]time.Duration, 0, reviews)
	// Connections take turns.
	next := time.Now().Add(l.pace * time.Duration(connection) / time.Duration(l.connections))
	for r := range reviews + 20 {
		body := review.Body(connection*1_000_000+r, l.selective)
		time.Sleep(time.Until(next))
		next = next.Add(l.pace)
		took, err := review.Ask(client, url, body)
		if err != nil {
			return nil, err
		}
		// The first reviews open the connection.
		if r >= 20 {
			samples = append(samples, took)
		}
	}
	return samples, nil
}

// No two loads use the same name.
var churned atomic.Int64

// churn creates and binds pods until done is closed.
func churn(api string, perSecond int, done <-chan struct{}) {
	ticker := time.NewTicker(time.Second / time.Duration(perSecond))
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
		}
		pod := fixture.IncomingPod(int(500_000 + churned.Add(1)))
		pod.Spec.NodeName = fixture.NodeName(int(churned.Load()) % 100)
		encoded, err := json.Marshal(pod)
		if err != nil {
			panic(err)
		}
		response, err := http.Post(api+"/api/v1/namespaces/"+pod.Namespace+"/pods", "application/json", bytes.NewReader(encoded))
		if err != nil {
			continue
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
	}
}
