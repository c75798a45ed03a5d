/** A port of the computer that is open to the person. */
export interface OpenPort {
  readonly id: string
  readonly port: number
  readonly label: string
  readonly opened_at: string
  readonly opened_by: 'agent' | 'person'
}
export interface OpenPorts {
  readonly ports: readonly OpenPort[]
}
export interface PortAddress {
  readonly url: string
  readonly expires_at: string
}
interface Stored {
  readonly at: string
  readonly port_id: string
  readonly port: number
}
export type PortEvent =
  | (Stored & { readonly type: 'port.opened'; readonly label: string; readonly opened_by: OpenPort['opened_by'] })
  | (Stored & { readonly type: 'port.closed' })
