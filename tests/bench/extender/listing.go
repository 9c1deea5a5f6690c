package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"synergy.io/synergy/tests/bench/internal/summary"
)

// pageSize is what client-go asks for.
const pageSize = 500

var continuation = regexp.MustCompile(`"continue":"([^"]+)"`)

// plainListing is the median of three times that it takes to receive all nodes and pods page by page without looking at
// them: what any client has to wait for, whatever it does with the objects.
func plainListing(server string) (summary.Milliseconds, error) {
	times := []float64{}
	for range 3 {
		started := time.Now()
		for _, path := range []string{"/api/v1/nodes", "/api/v1/pods"} {
			if err := receiveAll(server + path); err != nil {
				return 0, err
			}
		}
		times = append(times, float64(summary.Of(time.Since(started))))
	}
	return summary.Milliseconds(summary.Median(times)), nil
}

func receiveAll(collection string) error {
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	defer client.CloseIdleConnections()
	var head bytes.Buffer
	for token := ""; ; {
		response, err := client.Get(fmt.Sprintf("%s?limit=%d&continue=%s", collection, pageSize, url.QueryEscape(token)))
		if err != nil {
			return err
		}
		head.Reset()
		_, err = io.CopyN(&head, response.Body, 512)
		if err == nil {
			_, err = io.Copy(io.Discard, response.Body)
		} else if err == io.EOF {
			err = nil
		}
		_ = response.Body.Close()
		if err != nil {
			return err
		}
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s", collection, response.Status)
		}
		match := continuation.FindSubmatch(head.Bytes())
		if match == nil {
			return nil
		}
		token = string(match[1])
	}
}
