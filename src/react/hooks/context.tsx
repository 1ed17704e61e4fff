import { createContext, useContext, type ReactNode } from 'react'
import type { Parley } from '@parley/client'

const Context = createContext<Parley | undefined>(undefined)

/** Gives the client to the hooks and components below it. */
export function ParleyProvider({ parley, children }: { parley: Parley; children?: ReactNode }) {
  return <Context.Provider value={parley}>{children}</Context.Provider>
}

/** The client of the nearest provider. */
export function useParley(): Parley {
  const parley = useContext(Context)
  if (parley === undefined) throw new Error('There is no <ParleyProvider> around this component.')
  return parley
}
