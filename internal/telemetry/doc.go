// Package telemetry tells machines what clank does: as records, which are kept and logged, and as metrics in the
// format of Prometheus.
//
// Records are what the database says of tasks and steps anyway, in the terms that other programs know
// (browser_browse_call and so on), and what people did to the installation: settings, consents, sign-ins, exports.
// The package stands around store, ledger and backend like the budget does; neither knows of it.
package telemetry
