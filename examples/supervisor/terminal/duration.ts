/** A length of time at a glance: `3s`, `4m 10s`, `2h 5m`, `6d 1h`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [minutes, hours, days] = [Math.floor(seconds / 60), Math.floor(seconds / 3600), Math.floor(seconds / 86_400)];
  if (minutes === 0) return `${seconds}s`;
  if (hours === 0) return `${minutes}m ${seconds % 60}s`;
  if (days === 0) return `${hours}h ${minutes % 60}m`;
  return `${days}d ${hours % 24}h`;
}
