// Package cosipeer holds the Go implementation of COSI against ours: its public conformance
// suites run over gRPC on a State service that another program serves.
//
//	STATE_COMMAND='node dist/cli.js serve --state sqlite:{data} --listen unix:{socket}' go test . -v
//
// STATE_COMMAND is started once per test, with {socket} replaced by a fresh unix socket path and
// {data} by the path of a file that does not exist yet. It must serve an empty state and answer on
// the socket within 15 s. Without {data}, the test of a killed and restarted server is skipped: what
// it kept is gone.
package cosipeer

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cosi-project/runtime/api/v1alpha1"
	ctrlconformance "github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/controller/runtime"
	"github.com/cosi-project/runtime/pkg/controller/runtime/options"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/protobuf"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/conformance"
	"github.com/cosi-project/runtime/pkg/state/protobuf/client"
	"github.com/stretchr/testify/require"
	"github.com/stretchr/testify/suite"
	"go.uber.org/zap/zaptest"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

func init() {
	for _, err := range []error{
		protobuf.RegisterResource(conformance.PathResourceType, &conformance.PathResource{}),
		protobuf.RegisterResource(ctrlconformance.IntResourceType, &ctrlconformance.IntResource{}),
		protobuf.RegisterResource(ctrlconformance.StrResourceType, &ctrlconformance.StrResource{}),
		protobuf.RegisterResource(ctrlconformance.SentenceResourceType, &ctrlconformance.SentenceResource{}),
	} {
		if err != nil {
			panic(err)
		}
	}
}

// served is a State service running in a process of its own.
type served struct {
	t       *testing.T
	socket  string
	data    string
	command *exec.Cmd
	second  state.State
}

func serve(t *testing.T) *served {
	t.Helper()

	dir, err := os.MkdirTemp("", "cosipeer")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })

	s := &served{t: t, socket: filepath.Join(dir, "state.sock"), data: filepath.Join(dir, "state.db")}
	s.start()
	t.Cleanup(s.kill)

	return s
}

func (s *served) start() {
	s.t.Helper()

	line := os.Getenv("STATE_COMMAND")
	if line == "" {
		s.t.Skip("STATE_COMMAND is not set")
	}

	_ = os.Remove(s.socket)

	line = strings.NewReplacer("{socket}", s.socket, "{data}", s.data).Replace(line)
	s.command = exec.Command("sh", "-c", "exec "+line)
	s.command.Stderr = os.Stderr
	s.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(s.t, s.command.Start())

	require.Eventually(s.t, func() bool {
		conn, err := net.Dial("unix", s.socket)
		if err != nil {
			return false
		}

		conn.Close()

		return true
	}, 15*time.Second, 20*time.Millisecond, "no answer on the socket")
}

func (s *served) kill() {
	if s.command != nil && s.command.Process != nil {
		_ = syscall.Kill(-s.command.Process.Pid, syscall.SIGKILL)
		_ = s.command.Wait()
		s.command = nil
	}
}

func (s *served) state(opts ...client.AdapterOption) state.State {
	s.t.Helper()

	conn, err := grpc.NewClient("unix://"+s.socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(s.t, err)
	s.t.Cleanup(func() { conn.Close() })

	return state.WrapCore(client.NewAdapter(v1alpha1.NewStateClient(conn), opts...))
}

// other is a State on a connection of its own, which no watch can hold up.
func (s *served) other() state.State {
	if s.second == nil {
		s.second = s.state()
	}

	return s.second
}

// [transport X20]: the Go client's State suite on our server. Our client's on Go's server is in
// ../client-on-go-server.test.ts.
func TestStateConformance(t *testing.T) {
	suite.Run(t, &conformance.StateSuite{
		State:      serve(t).state(),
		Namespaces: []resource.Namespace{"default", "controller", "system", "runtime"},
	})
}

// [transport X20]: the Go runtime's suite on our server.
func TestRuntimeConformance(t *testing.T) {
	for name, opts := range map[string][]options.Option{
		"defaults":     nil,
		"rate limited": {options.WithChangeRateLimit(10, 20)},
	} {
		t.Run(name, func(t *testing.T) {
			suite.Run(t, &ctrlconformance.RuntimeSuite{
				SetupRuntime: func(rs *ctrlconformance.RuntimeSuite) {
					rs.State = serve(t).state()

					rt, err := runtime.NewRuntime(rs.State, zaptest.NewLogger(rs.T()), opts...)
					require.NoError(rs.T(), err)

					rs.Runtime = rt
				},
			})
		})
	}
}

func TestWatchAbort(t *testing.T) {
	s := serve(t)
	st := s.state(client.WithDisableWatchRetry())

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()

	events := make(chan []state.Event)
	kind := conformance.NewPathResource("test", "/foo").Metadata()
	require.NoError(t, st.WatchKindAggregated(ctx, kind, events, state.WithBootstrapContents(true)))

	first := <-events
	require.Len(t, first, 1)
	require.Equal(t, state.Bootstrapped, first[0].Type)

	s.kill()

	select {
	case <-ctx.Done():
		t.Fatal("the watch did not end")
	case last := <-events:
		require.Len(t, last, 1)
		require.Equal(t, state.Errored, last[0].Type)
	}
}

// A Go controller runtime goes on from its bookmarks after the service that it watches was killed and
// started again on the same data.
func TestWatchRuntimeRestart(t *testing.T) {
	if !strings.Contains(os.Getenv("STATE_COMMAND"), "{data}") {
		t.Skip("STATE_COMMAND keeps nothing: it has no {data}")
	}

	s := serve(t)
	st := s.state()

	rt, err := runtime.NewRuntime(st, zaptest.NewLogger(t))
	require.NoError(t, err)

	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()

	done := make(chan error, 1)
	go func() { done <- rt.Run(ctx) }()

	require.NoError(t, rt.RegisterController(&ctrlconformance.IntToStrController{SourceNamespace: "one", TargetNamespace: "default"}))
	require.NoError(t, st.Create(ctx, ctrlconformance.NewIntResource("one", "1", 1)))

	_, err = st.WatchFor(ctx, ctrlconformance.NewStrResource("default", "1", "1").Metadata(), state.WithEventTypes(state.Created))
	require.NoError(t, err)

	s.kill()
	s.start()

	require.Eventually(t, func() bool {
		return st.Create(ctx, ctrlconformance.NewIntResource("one", "2", 2)) == nil
	}, 5*time.Second, 20*time.Millisecond)

	_, err = st.WatchFor(ctx, ctrlconformance.NewStrResource("default", "2", "2").Metadata(), state.WithEventTypes(state.Created))
	require.NoError(t, err)

	// what was there before the kill still is
	_, err = st.Get(ctx, ctrlconformance.NewStrResource("default", "1", "1").Metadata())
	require.NoError(t, err)

	cancel()
	require.NoError(t, <-done)
}
