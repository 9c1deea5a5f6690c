package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"time"

	"synergy.io/synergy/tests/bench/internal/summary"
)

// pace is the time between two calls.
const pace = 5 * time.Millisecond

// settle is how long calls still count as part of a relist after it: in that time the program
// applies the events that came meanwhile.
const settle = time.Second

// The phases, in order; events come in the two in the middle.
const (
	quiet   = "quiet"
	events  = "events"
	relists = "events and relists"
	again   = "quiet again"
)

// phase has the measurements of one phase, by kind of call.
type phase struct {
	Name  string                     `json:"name"`
	Calls map[string]summary.Latency `json:"calls"`
}

// caller makes a call and returns its kind.
type caller func(index int) (kind string, took time.Duration, err error)

type measurement struct {
	options *options
	api     string
	call    caller
	// Relists is how long each took: from the end of the watch until another one was opened.
	Relists []summary.Milliseconds `json:"relists_ms"`
	Phases  []phase                `json:"phases"`
}

func (m *measurement) run() error {
	wait := func() error {
		time.Sleep(m.options.phase)
		return nil
	}
	// The warm-up opens connections.
	if _, err := m.during("warm-up", 0, func() error { time.Sleep(time.Second); return nil }); err != nil {
		return err
	}
	for _, p := range []struct {
		name   string
		events int
		happen func() error
	}{{quiet, 0, wait}, {events, m.options.events, wait}, {relists, m.options.events, m.relist}, {again, 0, wait}} {
		log.Print(p.name)
		measured, err := m.during(p.name, p.events, p.happen)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		m.Phases = append(m.Phases, *measured)
	}
	return nil
}

func (m *measurement) relist() error {
	for range m.options.relists {
		started := time.Now()
		if err := m.tell(http.MethodPost, "/stub/relist"); err != nil {
			return err
		}
		m.Relists = append(m.Relists, summary.Of(time.Since(started)))
		time.Sleep(settle)
	}
	return nil
}

// during makes calls until happen returns.
func (m *measurement) during(name string, events int, happen func() error) (*phase, error) {
	if err := m.tell(http.MethodPut, fmt.Sprintf("/stub/events/%d", events)); err != nil {
		return nil, err
	}
	samples := map[string][]time.Duration{}
	happened := make(chan error)
	go func() { happened <- happen() }()
	for due, index := time.Now(), 0; ; index++ {
		select {
		case err := <-happened:
			measured := &phase{name, map[string]summary.Latency{}}
			for kind, times := range samples {
				measured.Calls[kind] = summary.Latencies(times)
			}
			return measured, err
		case <-time.After(time.Until(due)):
		}
		kind, took, err := m.call(index)
		if err != nil {
			return nil, err
		}
		samples[kind] = append(samples[kind], took)
		// Calls that were due while this one waited would have waited, too. Add the times that they would
		// have taken.
		for due = due.Add(pace); time.Until(due) < 0; due = due.Add(pace) {
			if took -= pace; took > 0 {
				samples[kind] = append(samples[kind], took)
			}
		}
	}
}

func (m *measurement) tell(method, path string) error {
	request, err := http.NewRequest(method, m.api+path, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", path, response.Status)
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}
