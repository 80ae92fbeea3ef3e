-- | Commands of the operating system: one after the other, or all at once.
--
-- > Commands each       the next command starts when the one before has answered
-- > Commands at-once    a thread for each command
-- > Commands workers    four threads start many that are over at once
module Main (main) where

import Control.Concurrent
import Control.Monad
import System.Environment (getArgs)
import System.Process (readProcess)

main :: IO ()
main = do
  [how] <- getArgs
  let ask :: Int -> IO Int
      ask host = length <$> readProcess "/bin/sh" ["-c", "sleep 0.05; echo " ++ show host] ""
  let quick = length <$> readProcess "/bin/true" [] ""
  answers <- if how == "workers" then mapM (const (fork (sum <$> replicateM 40 quick))) "four" >>= mapM takeMVar else if how == "each" then mapM ask [1 .. 12] else mapM fork (map ask [1 .. 12]) >>= mapM takeMVar
  print (sum answers)

fork :: IO a -> IO (MVar a)
fork act = do
  answer <- newEmptyMVar
  _ <- forkIO (act >>= putMVar answer)
  pure answer
