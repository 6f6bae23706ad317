package webrtc

import (
	"fmt"
	"log/slog"

	"github.com/pion/logging"
)

// loggerFactory gives pion our logger. What it has to say is for those who look for faults: what matters to others comes as errors.
type loggerFactory struct{ to *slog.Logger }

// NewLogger implements [logging.LoggerFactory].
func (l loggerFactory) NewLogger(scope string) logging.LeveledLogger {
	return pionLogger{l.to.With("scope", scope)}
}

// pionLogger implements [logging.LeveledLogger].
type pionLogger struct{ to *slog.Logger }

func (pionLogger) Trace(string)          {}
func (pionLogger) Tracef(string, ...any) {}
func (pionLogger) Debug(string)          {}
func (pionLogger) Debugf(string, ...any) {}
func (pionLogger) Info(string)           {}
func (pionLogger) Infof(string, ...any)  {}

func (l pionLogger) Warn(msg string) { l.to.Debug("webrtc", "said", msg) }
func (l pionLogger) Warnf(format string, a ...any) {
	l.to.Debug("webrtc", "said", fmt.Sprintf(format, a...))
}
func (l pionLogger) Error(msg string) { l.to.Debug("webrtc", "said", msg) }
func (l pionLogger) Errorf(format string, a ...any) {
	l.to.Debug("webrtc", "said", fmt.Sprintf(format, a...))
}
