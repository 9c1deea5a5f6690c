// Package child runs the measured programs, and ends only those.
package child

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Process is a running program.
type Process struct {
	name    string
	command *exec.Cmd
	exited  chan struct{}
	err     error
	log     *os.File
}

// Start runs a program whose output goes to a log file. The program dies with this one.
func Start(name, logPath string, arguments ...string) (*Process, error) {
	if len(arguments) == 0 {
		return nil, fmt.Errorf("%s: no command", name)
	}
	log, err := os.Create(logPath)
	if err != nil {
		return nil, err
	}
	p := &Process{name: name, command: exec.Command(arguments[0], arguments[1:]...), exited: make(chan struct{}), log: log}
	p.command.Stdout, p.command.Stderr = log, log
	p.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	go func() {
		p.err = p.command.Wait()
		close(p.exited)
	}()
	return p, nil
}

// Stop sends SIGTERM, and kills the program if it has not ended after ten seconds.
func (p *Process) Stop() {
	if p == nil {
		return
	}
	defer p.log.Close()
	_ = p.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(10 * time.Second):
		_ = p.command.Process.Kill()
		<-p.exited
	}
}

// Failure describes how a program ended by itself.
func (p *Process) failure() error {
	return fmt.Errorf("%s ended (%v); its output is in %s", p.name, p.err, p.log.Name())
}

// WaitReady polls a URL until it answers 200.
func (p *Process) WaitReady(url string, timeout time.Duration) error {
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	deadline := time.Now().Add(timeout)
	for {
		if response, err := client.Get(url); err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-p.exited:
			return p.failure()
		case <-time.After(2 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s was not ready after %v; its output is in %s", p.name, timeout, p.log.Name())
		}
	}
}

// WaitListening waits for the line "listening ADDRESS" in the program's output.
func (p *Process) WaitListening(timeout time.Duration) (address string, err error) {
	deadline := time.Now().Add(timeout)
	for {
		output, err := os.ReadFile(p.log.Name())
		if err != nil {
			return "", err
		}
		lines := bufio.NewScanner(strings.NewReader(string(output)))
		for lines.Scan() {
			if address, found := strings.CutPrefix(lines.Text(), "listening "); found {
				return address, nil
			}
		}
		select {
		case <-p.exited:
			return "", p.failure()
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return "", fmt.Errorf("%s did not listen within %v; its output is in %s", p.name, timeout, p.log.Name())
		}
	}
}

// Memory is what the kernel reports about a process.
type Memory struct {
	ResidentMiB float64 `json:"resident_mib"`
	PeakMiB     float64 `json:"peak_mib"`
}

// Memory reads VmRSS and VmHWM.
func (p *Process) Memory() (Memory, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		return Memory{}, err
	}
	var memory Memory
	for _, line := range strings.Split(string(status), "\n") {
		for prefix, field := range map[string]*float64{"VmRSS:": &memory.ResidentMiB, "VmHWM:": &memory.PeakMiB} {
			if value, found := strings.CutPrefix(line, prefix); found {
				kibibytes, err := strconv.ParseFloat(strings.Fields(value)[0], 64)
				if err != nil {
					return Memory{}, err
				}
				*field = kibibytes / 1024
			}
		}
	}
	if memory.ResidentMiB == 0 {
		return Memory{}, errors.New(p.name + " has no memory: it has ended")
	}
	return memory, nil
}

// FreeAddress returns a loopback address on which no program listens.
func FreeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}
