package golive

import "time"

// Status says how far a stream is.
type Status string

// The statuses.
const (
	AwaitingPresence    Status = "waiting_for_voice_session" // the account takes its place in the channel
	Requested           Status = "stream_requested"          // Discord was asked
	AwaitingCredentials Status = "waiting_for_credentials"   // it has agreed, or moves the stream; its server is not known yet
	ConnectRequested    Status = "connect_requested"         // the server is known
	Connecting          Status = "connecting"                // the second voice connection is being opened, or has no keys yet
	Ready               Status = "ready"                     // pictures can go
	Playing             Status = "playing"                   // they do
	Paused              Status = "paused"                    // on request
	ResumeRequested     Status = "resume_requested"          // no picture has gone since
	AwaitingTransport   Status = "waiting_for_transport"     // the connection has broken and is being restored
	BadGroup            Status = "invalid_dave_channel"      // the stream's number is none, so its encryption has no group
	NoTransport         Status = "transport_unavailable"     // the second voice connection could not be opened
	Unsupported         Status = "unsupported_source"        // the others demand a codec that is not ours
	CreateFailed        Status = "stream_create_failed"      // Discord has refused
	Failed              Status = "failed"                    // it has ended by itself, see Reason
	Disconnected        Status = "disconnected"              // it was ended
)

// State is what a stream is like now.
type State struct {
	Status         Status
	Reason         string // why it is not well; for people
	Key            string // of the stream, as Discord writes it
	Server         string // Discord's number of the stream
	Endpoint       string // where the pictures go
	Transport      string // in which they go: "UDP", "WebRTC"
	FallbackReason string // why that is not the first way; empty if it is. For people
	Viewers        []string
	WantedQuality  int    // quality that viewers want; 0 is that nobody looks, 100 the best
	Sent           uint64 // frames
	Dropped        uint64 // frames that could not go
	RequestedAt    time.Time
	AgreedAt       time.Time // by Discord
	ReadyAt        time.Time // when the connection was ready last
	FirstFrameAt   time.Time // when the first picture went
}
