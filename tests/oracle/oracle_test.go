package main

import (
	"bytes"
	"strings"
	"testing"
)

func answerTo(t *testing.T, line string) string {
	t.Helper()
	var out bytes.Buffer
	if err := run([]string{"answer"}, strings.NewReader(line), &out); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}

func TestAnswersAreThoseStatedInTheDocumentation(t *testing.T) {
	for _, test := range []struct{ name, input, answer string }{
		{
			"a fraction of a byte is rounded up", `{"quantity":"1.0001"}`,
			`{"value":2,"milli":1001,"valueInRange":true,"milliInRange":true}`,
		},
		{
			"an overflow is marked", `{"quantity":"10E"}`,
			`{"value":0,"milli":0,"valueInRange":false,"milliInRange":false}`,
		},
		{
			"containers are added before rounding",
			`{"pod":{"spec":{"containers":[{"name":"a","resources":{"requests":{"memory":"500m"}}},{"name":"b","resources":{"requests":{"memory":"500m"}}}]}}}`,
			`{"incoming":{"cpu":0,"ephemeral-storage":0,"memory":1},"accounted":{"cpu":0,"ephemeral-storage":0,"memory":1}}`,
		},
		{
			"a resize counts the most of spec, actual and allocated",
			`{"pod":{"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]},"status":{"containerStatuses":[
			{"name":"a","resources":{"requests":{"cpu":"3"}},"allocatedResources":{"cpu":"2"}}]}}}`,
			`{"incoming":{"cpu":1000,"ephemeral-storage":0,"memory":0},"accounted":{"cpu":3000,"ephemeral-storage":0,"memory":0}}`,
		},
		{
			"an infeasible resize leaves the spec out",
			`{"pod":{"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"9"}}}]},"status":{"conditions":[{"type":"PodResizePending","reason":"Infeasible"}],
			"containerStatuses":[{"name":"a","resources":{"requests":{"cpu":"3"}},"allocatedResources":{"cpu":"2"}}]}}}`,
			`{"incoming":{"cpu":9000,"ephemeral-storage":0,"memory":0},"accounted":{"cpu":3000,"ephemeral-storage":0,"memory":0}}`,
		},
		{
			"pod-level requests replace those of the containers",
			`{"pod":{"spec":{"resources":{"requests":{"cpu":"1"}},"overhead":{"cpu":"1m"},"containers":[{"name":"a","resources":{"requests":{"cpu":"9","memory":"5"}}}]}}}`,
			`{"incoming":{"cpu":1001,"ephemeral-storage":0,"memory":5},"accounted":{"cpu":1001,"ephemeral-storage":0,"memory":5}}`,
		},
		{
			"every reason is reported in a fixed order",
			`{"node":{"metadata":{"name":"n"},"spec":{"unschedulable":true}},"pods":[],"pod":{"spec":{"containers":[{"name":"a","resources":{"requests":{"b.c/d":"1","a.b/c":"1","cpu":"1","memory":"1"}}}]}}}`,
			`{"incoming":{"a.b/c":1,"b.c/d":1,"cpu":1000,"ephemeral-storage":0,"memory":1},"accounted":{"a.b/c":1,"b.c/d":1,"cpu":1000,"ephemeral-storage":0,"memory":1},` +
				`"fits":false,"reasons":["Too many pods","Insufficient cpu","Insufficient memory","Insufficient a.b/c","Insufficient b.c/d"],` +
				`"unresolvable":true,"unschedulable":true,"allocatable":{"cpu":0,"ephemeral-storage":0,"memory":0,"pods":0},` +
				`"requested":{"cpu":0,"ephemeral-storage":0,"memory":0},"podCount":0}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := answerTo(t, strings.ReplaceAll(test.input, "\n", " ")); got != test.answer {
				t.Errorf("got  %s\nwant %s", got, test.answer)
			}
		})
	}
}

func TestGeneratedInputsRepeatAndCanBeAnswered(t *testing.T) {
	for _, kind := range []string{"mixes", "quantities"} {
		var first, second, answers bytes.Buffer
		for _, out := range []*bytes.Buffer{&first, &second} {
			if err := run([]string{"generate", "--seed", "11", "--count", "300", "--kind", kind}, nil, out); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("%s: equal seeds gave different inputs", kind)
		}
		if err := run(nil, &first, &answers); err != nil {
			t.Fatal(err)
		}
		if count := strings.Count(answers.String(), "\n"); count != 300 {
			t.Errorf("%s: %d answers to 300 inputs", kind, count)
		}
		if kind == "mixes" && strings.Contains(answers.String(), `"error"`) {
			t.Errorf("%s: an input was illegal", kind)
		}
	}
}
