/** What an embedded server is asked to be. */
export interface ServerNeeds {
  /** Folder of the Unix socket; null to listen on the loopback interface only. */
  socketDir: string | null
  port: number
  connections: number
  /** False gives up durability for speed: for databases that are thrown away. */
  isDurable: boolean
}

/**
 * PostgreSQL's settings as command-line arguments. They win over postgresql.conf, so that a data directory made by an
 * earlier version runs with the settings of this one.
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

    // An acknowledged write is on disk, and a page that was torn by a power cut can be repaired.
    fsync: durability,
    synchronous_commit: 'on',
    full_page_writes: durability,

    // A quarter of a small machine's memory; pages are taken from the system only when they are used.
    shared_buffers: '256MB',
    // Checkpoints write every page anew in full: far apart, they cost less. Recovery reads at most this much.
    max_wal_size: '2GB',
    // What was written to once is kept for the next rush: a new file of the log is filled with zeros first, and everybody
    // waits. Where there never was a rush, it takes no room.
    min_wal_size: '1GB',
    checkpoint_timeout: '15min',
    wal_buffers: '16MB',
    // This PostgreSQL is built with pglz alone, which took a fifth more processor time for a tenth less to write.
    wal_compression: 'off',
    // Every disk that this runs on today is a solid-state one.
    random_page_cost: 1.1,
    // Compiling a query costs more than any query of ours takes.
    jit: 'off',
    // A few cores serve many short queries, and containers often have too little /dev/shm for parallel ones.
    max_parallel_workers_per_gather: 0,
    // The rows of busy apps change with every message: their pages are cleaned before they spread.
    autovacuum_naptime: '15s',
    // Tables that grow are looked at anew when they have grown by half, not by a tenth: while they were young and grew
    // fast, that took 3 % of two processors.
    autovacuum_analyze_scale_factor: 0.5,

    // To the log: what PostgreSQL says of itself, not failed statements, because these quote what people wrote.
    log_min_messages: 'log',
    log_error_verbosity: 'terse',
    log_checkpoints: 'off',
    log_line_prefix: '%m [%p] ',
  }
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}
