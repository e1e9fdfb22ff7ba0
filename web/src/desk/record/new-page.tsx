export function NewRecordPage() {
  return <h1>NewRecordPage</h1>;
}
