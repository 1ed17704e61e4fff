/** Gives the focus to the row that an element is in, before the element goes. */
export function focusRow(element: Element): void {
  element.closest<HTMLElement>('article')?.focus()
}

/** Gives the focus to the row after that of an element, or the one before it, before the row goes. */
export function focusNextRow(element: Element): void {
  const row = element.closest('article')
  const list = row?.parentElement?.closest<HTMLElement>('[role=log], [role=feed]')
  const rows = Array.from(list?.querySelectorAll<HTMLElement>('article') ?? []).filter(one => !one.contains(element))
  const isAfter = (one: Element) => row!.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING
  const next = rows.find(isAfter) ?? rows.at(-1) ?? list
  next?.focus()
}
