import { Packr } from 'msgpackr'

/** Dates and bytes arrive as what they are. Every message stands for itself: a later subscriber has missed some. */
const packr = new Packr({ useRecords: false, mapsAsObjects: true, int64AsType: 'number' })

/** The bytes of a message, as every body of the bus carries it. */
export const packMessage = (message: object): Buffer => packr.pack(message)

export const unpackMessage = (bytes: Buffer): unknown => packr.unpack(bytes)
