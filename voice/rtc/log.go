package rtc

import (
	"fmt"
	"log/slog"

	"github.com/pion/logging"
)

// logs gives pion our logger. What it has to say is for those who look for faults: what matters to others comes as errors.
type logs struct{ to *slog.Logger }

// NewLogger implements [logging.LoggerFactory].
func (l logs) NewLogger(scope string) logging.LeveledLogger { return log{l.to.With("scope", scope)} }

// log implements [logging.LeveledLogger].
type log struct{ to *slog.Logger }

func (log) Trace(string)          {}
func (log) Tracef(string, ...any) {}
func (log) Debug(string)          {}
func (log) Debugf(string, ...any) {}
func (log) Info(string)           {}
func (log) Infof(string, ...any)  {}

func (l log) Warn(msg string)                { l.to.Debug("webrtc", "said", msg) }
func (l log) Warnf(format string, a ...any)  { l.to.Debug("webrtc", "said", fmt.Sprintf(format, a...)) }
func (l log) Error(msg string)               { l.to.Debug("webrtc", "said", msg) }
func (l log) Errorf(format string, a ...any) { l.to.Debug("webrtc", "said", fmt.Sprintf(format, a...)) }
