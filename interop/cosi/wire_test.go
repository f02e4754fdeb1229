package cosipeer

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/conformance"
	"github.com/cosi-project/runtime/pkg/state/protobuf/client"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// What the public suites leave out: how the service behaves on the wire, as Go's own client sees it.

const finalizer resource.Finalizer = "held"

func testContext(t *testing.T) context.Context {
	t.Helper()

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)

	return ctx
}

func path(id string) *conformance.PathResource { return conformance.NewPathResource("wire", id) }

// padded is a resource of about this size.
func padded(id string, size int) *conformance.PathResource {
	r := path(id)
	r.Metadata().Annotations().Set("padding", strings.Repeat("x", size))

	return r
}

// Each status becomes the category that it stands for, and no other.
func TestErrorCategories(t *testing.T) {
	ctx, st := testContext(t), serve(t).state()

	assert.True(t, state.IsNotFoundError(second(st.Get(ctx, path("absent").Metadata()))))
	assert.True(t, state.IsNotFoundError(st.Update(ctx, path("absent"))))
	assert.True(t, state.IsNotFoundError(st.Destroy(ctx, path("absent").Metadata())))
	assert.True(t, state.IsNotFoundError(second(st.Teardown(ctx, path("absent").Metadata()))))
	assert.True(t, state.IsNotFoundError(st.TeardownAndDestroy(ctx, path("absent").Metadata())))

	r := path("one")
	r.Metadata().Finalizers().Add(finalizer)
	require.NoError(t, st.Create(ctx, r, state.WithCreateOwner("ann")))

	stale := r.DeepCopy()
	require.NoError(t, st.Update(ctx, r, state.WithUpdateOwner("ann")))

	plainConflict := func(err error) {
		t.Helper()
		assert.True(t, state.IsConflictError(err))
		assert.False(t, state.IsOwnerConflictError(err))
		assert.False(t, state.IsPhaseConflictError(err))
	}

	plainConflict(st.Create(ctx, path("one")))
	plainConflict(st.Update(ctx, stale, state.WithUpdateOwner("ann")))
	plainConflict(st.Destroy(ctx, r.Metadata(), state.WithDestroyOwner("ann")))

	assert.True(t, state.IsOwnerConflictError(st.Update(ctx, r, state.WithUpdateOwner("bob"))))
	assert.True(t, state.IsOwnerConflictError(st.Destroy(ctx, r.Metadata(), state.WithDestroyOwner("bob"))))
	assert.True(t, state.IsOwnerConflictError(second(st.Teardown(ctx, r.Metadata(), state.WithTeardownOwner("bob")))))

	ready, err := st.Teardown(ctx, r.Metadata(), state.WithTeardownOwner("ann"))
	require.NoError(t, err)
	assert.False(t, ready)

	current, err := st.Get(ctx, r.Metadata())
	require.NoError(t, err)
	assert.Equal(t, resource.PhaseTearingDown, current.Metadata().Phase())
	assert.True(t, state.IsPhaseConflictError(st.Update(ctx, current, state.WithUpdateOwner("ann"))))

	events := make(chan state.Event)
	err = st.Watch(ctx, r.Metadata(), events, state.WithStartFromBookmark([]byte("nonsense")))
	assert.True(t, state.IsInvalidWatchBookmarkError(err))
}

func second[T any](_ T, err error) error { return err }

// Teardown and TeardownAndDestroy are one call each: the client does not fall back to steps of its own.
func TestTeardownCalls(t *testing.T) {
	ctx, s := testContext(t), serve(t)

	var (
		mu    sync.Mutex
		calls []string
	)

	count := func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoker grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		mu.Lock()
		calls = append(calls, strings.TrimPrefix(method, "/cosi.resource.State/"))
		mu.Unlock()

		return invoker(ctx, method, req, reply, cc, opts...)
	}
	conn, err := grpc.NewClient("unix://"+s.socket, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithUnaryInterceptor(count))
	require.NoError(t, err)

	defer conn.Close() //nolint:errcheck

	st := state.WrapCore(client.NewAdapter(v1alpha1.NewStateClient(conn)))

	require.NoError(t, st.Create(ctx, path("a")))

	for range 2 {
		ready, err := st.Teardown(ctx, path("a").Metadata())
		require.NoError(t, err)
		assert.True(t, ready)
	}

	require.NoError(t, st.TeardownAndDestroy(ctx, path("a").Metadata()))
	assert.Equal(t, []string{"Create", "Teardown", "Teardown", "TeardownAndDestroy"}, calls)

	held := path("b")
	held.Metadata().Finalizers().Add(finalizer)
	require.NoError(t, st.Create(ctx, held))

	done := make(chan error, 1)
	go func() { done <- st.TeardownAndDestroy(ctx, held.Metadata()) }()

	_, err = st.WatchFor(ctx, held.Metadata(), state.WithPhases(resource.PhaseTearingDown))
	require.NoError(t, err)

	select {
	case err := <-done:
		t.Fatalf("did not wait for the finalizer: %v", err)
	default:
	}

	require.NoError(t, st.RemoveFinalizer(ctx, held.Metadata(), finalizer))
	require.NoError(t, <-done)
	assert.True(t, state.IsNotFoundError(second(st.Get(ctx, held.Metadata()))))
}

// The contents of a large kind come in messages below the 4 MiB that a Go client accepts by default.
func TestLargeBootstrap(t *testing.T) {
	ctx, st := testContext(t), serve(t).state()

	const count, size = 500, 32 * 1024

	for i := range count {
		require.NoError(t, st.Create(ctx, padded(fmt.Sprintf("r%04d", i), size)))
	}

	batches := make(chan []state.Event)
	require.NoError(t, st.WatchKindAggregated(ctx, path("").Metadata(), batches, state.WithBootstrapContents(true)))

	seen := 0

	for {
		for _, event := range <-batches {
			switch event.Type {
			case state.Created:
				require.Equal(t, fmt.Sprintf("r%04d", seen), event.Resource.Metadata().ID())

				seen++
			case state.Bootstrapped:
				require.Equal(t, count, seen)

				return
			case state.Updated, state.Destroyed, state.Errored, state.Noop:
				t.Fatalf("unexpected event %s: %v", event.Type, event.Error)
			}
		}
	}
}

// A client that does not read falls behind: it is told so once, in the place where events are missing.
func TestOverrun(t *testing.T) {
	ctx, s := testContext(t), serve(t)
	st := s.state(client.WithDisableWatchRetry())

	const count = 400

	events := make(chan state.Event)
	require.NoError(t, st.WatchKind(ctx, path("").Metadata(), events))

	for i := range count {
		require.NoError(t, s.other().Create(ctx, padded(fmt.Sprintf("r%04d", i), 256*1024)))
	}

	seen := 0

	for event := range events {
		if event.Type == state.Errored {
			assert.ErrorContains(t, event.Error, "buffer overrun")

			break
		}

		require.Equal(t, state.Created, event.Type)
		require.Equal(t, fmt.Sprintf("r%04d", seen), event.Resource.Metadata().ID())

		seen++
		require.Less(t, seen, count, "the watch was never overrun")
	}

	select {
	case event := <-events:
		t.Fatalf("an event came after the last one: %s", event.Type)
	case <-time.After(100 * time.Millisecond):
	}
}

// Watches that are opened and cancelled by the thousand leave nothing behind that would stand in the way of more.
func TestCancelledWatches(t *testing.T) {
	ctx, st := testContext(t), serve(t).state()

	for range 5 {
		wctx, cancel := context.WithCancel(ctx)

		var wg sync.WaitGroup

		for i := range 1000 {
			wg.Go(func() {
				ch := make(chan state.Event)
				if i%2 == 0 {
					assert.NoError(t, st.WatchKind(wctx, path("").Metadata(), ch))
				} else {
					assert.NoError(t, st.Watch(wctx, path("a").Metadata(), ch))
				}
			})
		}

		wg.Wait()
		cancel()
		require.NoError(t, st.Create(ctx, path("a")))
		require.NoError(t, st.Destroy(ctx, path("a").Metadata()))
	}
}

// A service that is told to stop ends the watches of its clients, and is gone soon after.
func TestGracefulStop(t *testing.T) {
	ctx, s := testContext(t), serve(t)
	st := s.state(client.WithDisableWatchRetry())

	var watches []chan state.Event

	for range 20 {
		ch := make(chan state.Event)
		require.NoError(t, st.WatchKind(ctx, path("").Metadata(), ch, state.WithBootstrapContents(true)))
		require.Equal(t, state.Bootstrapped, (<-ch).Type)

		watches = append(watches, ch)
	}

	require.NoError(t, syscall.Kill(-s.command.Process.Pid, syscall.SIGTERM))

	for _, ch := range watches {
		event := <-ch
		require.Equal(t, state.Errored, event.Type)
		require.ErrorContains(t, event.Error, "Unavailable")
	}

	exited := make(chan error, 1)
	go func() { exited <- s.command.Wait() }()

	select {
	case <-exited:
		s.command = nil
	case <-time.After(15 * time.Second):
		t.Fatal("the service did not stop")
	}
}
