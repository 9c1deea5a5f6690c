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

// pageSize is the page size that client-go requests.
const pageSize = 500

var continuation = regexp.MustCompile(`"continue":"([^"]+)"`)

// plainListing returns the median time, of three, to receive all nodes and pods page by page
// without decoding them. Any client has to wait at least that long.
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
