"""The services of the speech server: recognition, synthesis, translation and health over gRPC (one file for each), and
http.py with realtime/ for browsers. A new RPC of Riva goes to the file of its service."""
