export { ConfigFile, ConfigFileStatus, type ConfigFileSpec, type ConfigFileStatusSpec } from "./config-file.ts";
export { HealthCheck, HealthStatus, type HealthCheckSpec, type HealthStatusSpec } from "./health-check.ts";
export { FOLDER_STATUS_ID, ManifestStatus, type ManifestProblem, type ManifestStatusSpec } from "./manifest-status.ts";
export { Process, ProcessStatus, type ExitSpec, type ProcessSpec, type ProcessStatusSpec } from "./process.ts";
export { RESTART_ANNOTATION, Service, type ServiceSpec } from "./service.ts";
export { ServiceStatus, type ServiceStatusSpec } from "./service-status.ts";
export { Supervisor, SUPERVISOR_FINALIZER, SUPERVISOR_ID } from "./supervisor.ts";
