// Package telemetry exports what clank does to other programs: as records, which are stored and logged, as Prometheus
// metrics, and as OpenTelemetry traces.
//
// Records contain what the database knows about tasks and steps, under names that other programs know
// (browser_browse_call and so on), and the audit log of what people did to the installation: settings, approvals,
// sign-ins, exports. The package wraps store, ledger and backend, as the budget does; they do not know about it.
package telemetry
