package main

import (
	"bufio"
	"encoding/json"
	"io"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kjson "sigs.k8s.io/json"
)

type input struct {
	Quantity json.RawMessage `json:"quantity"`
	Node     json.RawMessage `json:"node"`
	Pods     []*v1.Pod       `json:"pods"`
	Pod      *v1.Pod         `json:"pod"`
}

type failure struct {
	Error string `json:"error"`
}

type podAnswer struct {
	Incoming  amounts `json:"incoming"`
	Accounted amounts `json:"accounted"`
}

func answerAll(in io.Reader, out *bufio.Writer) error {
	calculator, err := newCalculator()
	if err != nil {
		return err
	}
	reader := bufio.NewReaderSize(in, 1<<20)
	for {
		line, err := reader.ReadBytes('\n')
		if len(line) > 1 || (err == io.EOF && len(line) > 0) {
			if err := writeLine(out, calculator.answer(line)); err != nil {
				return err
			}
		}
		// A caller that sends one question at a time must not have to wait until a buffer is full.
		if reader.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (c *calculator) answer(line []byte) any {
	var question input
	if err := kjson.UnmarshalCaseSensitivePreserveInts(line, &question); err != nil {
		return failure{err.Error()}
	}
	switch {
	case question.Quantity != nil:
		return answerQuantity(question.Quantity)
	case question.Pod == nil:
		return failure{"neither a quantity nor a pod"}
	}
	requests, err := c.requests(question.Pod)
	if err != nil {
		return failure{err.Error()}
	}
	if question.Node == nil {
		return requests
	}
	node := &v1.Node{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(question.Node, node); err != nil {
		return failure{err.Error()}
	}
	mix, err := c.mix(node, question.Pods, question.Pod)
	if err != nil {
		return failure{err.Error()}
	}
	mix.podAnswer = requests
	return mix
}

func answerQuantity(encoded json.RawMessage) any {
	var quantity resource.Quantity
	if err := kjson.UnmarshalCaseSensitivePreserveInts(encoded, &quantity); err != nil {
		return failure{err.Error()}
	}
	return quantityAnswer{
		Value:        quantity.Value(),
		Milli:        quantity.MilliValue(),
		ValueInRange: inRange(quantity, 0),
		MilliInRange: inRange(quantity, 3),
	}
}
