import { useQuery } from '@tanstack/react-query';
import { useApi } from './api.tsx';

export const keysKey = ['listKeys'];

export function useKeys() {
  const api = useApi();
  return useQuery({ queryKey: keysKey, queryFn: ({ signal }) => api.listKeys({}, { signal }) });
}
