/** The properties of an embedded server. */
export interface ServerNeeds {
  /** Folder of the Unix socket; null to listen on the loopback interface only. */
  socketDir: string | null
  port: number
  connections: number
  /** False trades durability for speed, for databases that are thrown away. */
  isDurable: boolean
}

/**
 * PostgreSQL's settings as command-line arguments, which override postgresql.conf: a data directory made by an earlier
 * version runs with the settings of this one.
 */
export function toArguments({ socketDir, port, connections, isDurable }: ServerNeeds): string[] {
  const durability = isDurable ? 'on' : 'off'
  const settings: Record<string, string | number> = {
    listen_addresses: socketDir === null ? '127.0.0.1' : '',
    unix_socket_directories: socketDir ?? '',
    unix_socket_permissions: '0700',
    port,
    max_connections: connections,
    cluster_name: 'parley',
    timezone: 'UTC',
    log_timezone: 'UTC',

    // An acknowledged write is on disk, and a page torn by a power failure can be repaired.
    fsync: durability,
    synchronous_commit: 'on',
    full_page_writes: durability,

    // A quarter of the memory of a small machine; the system provides pages only when they are used.
    shared_buffers: '256MB',
    // After a checkpoint, the first change of each page writes it to the log in full, so checkpoints are far apart.
    // Recovery reads at most this much.
    max_wal_size: '2GB',
    // Log files of the last peak are kept for the next: a new one is first filled with zeros, and all writers wait.
    // Takes no room until there was a peak.
    min_wal_size: '1GB',
    checkpoint_timeout: '15min',
    wal_buffers: '16MB',
    // This build of PostgreSQL has pglz alone, which took a fifth more processor time to write a tenth less.
    wal_compression: 'off',
    // For solid-state disks.
    random_page_cost: 1.1,
    // Compiling a query costs more than any query of Parley takes.
    jit: 'off',
    // A few cores serve many short queries, and containers often have too little /dev/shm for parallel ones.
    max_parallel_workers_per_gather: 0,
    // The rows of busy apps change with every message; vacuum must keep up before the tables spread over many pages.
    autovacuum_naptime: '15s',
    // Statistics are renewed when a table has grown by half, not by a tenth: in young, fast growing tables, that took 3
    // % of two processors.
    autovacuum_analyze_scale_factor: 0.5,

    // PostgreSQL's own messages are logged; failed statements are not, because they quote what users wrote.
    log_min_messages: 'log',
    log_error_verbosity: 'terse',
    log_checkpoints: 'off',
    log_line_prefix: '%m [%p] ',
  }
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}
