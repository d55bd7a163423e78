// Command traffic is what the pods of the cluster tests run: something that is asked, something that asks, and something that waits.
//
//	traffic serve    answers HTTP on port 8080: / (who I am), /ready, /metrics
//	traffic ask      sends DNS questions from within the pod's network and shows the responses
//	traffic wait     does nothing until it is told to end
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) < 2 {
		fail(errors.New("one of serve, ask, wait is needed"))
	}
	switch os.Args[1] {
	case "serve":
		fail(serve(os.Args[2:]))
	case "ask":
		fail(ask(os.Args[2:]))
	case "wait":
		wait()
	default:
		fail(fmt.Errorf("unknown command %q", os.Args[1]))
	}
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// wait also collects what ended: as the first process of a pod it inherits every orphan.
func wait() {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCHLD)
	for s := range signals {
		if s != syscall.SIGCHLD {
			return
		}
		for {
			var status syscall.WaitStatus
			if pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil); pid <= 0 || err != nil {
				break
			}
		}
	}
}

func serve(arguments []string) error {
	flags := flag.NewFlagSet("serve", flag.ExitOnError)
	address := flags.String("listen", ":8080", "address to listen on")
	delay := flags.Duration("delay", 0, "how long one request is served")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	var total, inFlight atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) {
		inFlight.Add(1)
		defer inFlight.Add(-1)
		total.Add(1)
		time.Sleep(*delay)
		fmt.Fprintln(w, host)
	})
	mux.HandleFunc("/ready", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("/metrics", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "# TYPE http_requests_total counter\nhttp_requests_total %d\n", total.Load())
		fmt.Fprintf(w, "# TYPE http_requests_in_flight gauge\nhttp_requests_in_flight %d\n", inFlight.Load())
	})
	server := &http.Server{Addr: *address, Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-ended
		_ = server.Close()
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// ask reads DNS messages, one base64 line each, sends them one after the other, and writes a line for each: the response in base64, or
// "!" and the reason why there is none.
func ask(arguments []string) error {
	flags := flag.NewFlagSet("ask", flag.ExitOnError)
	server := flags.String("server", "", "address and port of the server")
	tcp := flags.Bool("tcp", false, "ask by TCP")
	timeout := flags.Duration("timeout", 2*time.Second, "how long to wait for a response")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	questions := bufio.NewScanner(os.Stdin)
	answers := bufio.NewWriter(os.Stdout)
	for questions.Scan() {
		question, err := base64.StdEncoding.DecodeString(strings.TrimSpace(questions.Text()))
		if err != nil {
			return err
		}
		if response, err := exchange(*server, question, *tcp, *timeout); err != nil {
			fmt.Fprintln(answers, "! "+err.Error())
		} else {
			fmt.Fprintln(answers, base64.StdEncoding.EncodeToString(response))
		}
	}
	return errors.Join(questions.Err(), answers.Flush())
}

func exchange(server string, question []byte, tcp bool, timeout time.Duration) ([]byte, error) {
	network := "udp"
	if tcp {
		network = "tcp"
	}
	connection, err := net.DialTimeout(network, server, timeout)
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(timeout)); err != nil {
		return nil, err
	}
	if tcp {
		framed := append(binary.BigEndian.AppendUint16(nil, uint16(len(question))), question...)
		if _, err := connection.Write(framed); err != nil {
			return nil, err
		}
		var length uint16
		if err := binary.Read(connection, binary.BigEndian, &length); err != nil {
			return nil, err
		}
		response := make([]byte, length)
		_, err := io.ReadFull(connection, response)
		return response, err
	}
	if _, err := connection.Write(question); err != nil {
		return nil, err
	}
	response := make([]byte, 65535)
	length, err := connection.Read(response)
	return response[:length], err
}
